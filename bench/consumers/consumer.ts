// What a benchmark runs side by side: programs that read a slot and write to standard output.

/** Where to read, and up to which position. */
export interface ConsumerTask {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly database: string;
  readonly publication: string;
  readonly slot: string;
  readonly endLsn: string;
}

export interface Consumer {
  readonly name: string;
  /** The output plugin that its slot must have. */
  readonly plugin: 'pgoutput' | 'test_decoding' | 'wal2json';
  /** Its output goes to a pipe that `cat` reads, in the place of a file. */
  readonly piped?: boolean;
  /** Why it cannot run on this machine. */
  readonly missing?: string | undefined;
  readonly command: (task: ConsumerTask) => readonly string[];
}
