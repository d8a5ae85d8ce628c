// The errors that end pgtail on purpose: each carries its exit code and, where one exists, the fix.
// Secrets and row values never stand in one of these.

/** Exit codes, a public contract: scripts branch on them. */
export const EXIT = {
  ok: 0,
  failure: 1,
  usage: 2,
  connection: 3,
  notReady: 4,
  slotInUse: 5,
  slot: 6,
  protocol: 7,
  output: 8,
  secondSignal: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

export interface ErrorAdvice {
  /** What the server said besides, as psql prints it. */
  readonly detail?: string | undefined;
  /** The fix, as something to type or to change. */
  readonly hint?: string | undefined;
  readonly cause?: unknown;
  /** It may go away by itself: worth another try. */
  readonly transient?: boolean;
}

/** Any failure that pgtail understands; `message` is one lower-case line without a full stop. */
export class PgtailError extends Error {
  readonly exitCode: ExitCode;
  readonly detail: string | undefined;
  readonly hint: string | undefined;
  readonly transient: boolean;

  constructor(exitCode: ExitCode, message: string, advice: ErrorAdvice = {}) {
    super(message, advice.cause === undefined ? undefined : { cause: advice.cause });
    this.name = new.target.name;
    this.exitCode = exitCode;
    this.detail = advice.detail;
    this.hint = advice.hint;
    this.transient = advice.transient ?? false;
  }
}

/** What may go away by itself: see ErrorAdvice. */
export const isTransient = (error: unknown): error is PgtailError =>
  error instanceof PgtailError && error.transient;

/** Text that is not in the encoding it was said to be in. `what` names it, and never shows it. */
export class UndecodableText extends PgtailError {
  readonly what: string;
  readonly encoding: string;

  constructor(what: string, encoding: string, where?: string) {
    const place = where === undefined ? '' : `${where}: `;
    super(EXIT.failure, `${place}${what} holds bytes that are not valid in ${encoding}`, {
      hint:
        'say with --encoding which encoding they are in; ' +
        'LATIN1 takes any bytes, but shows text that is in another encoding wrongly',
    });
    this.what = what;
    this.encoding = encoding;
  }

  /** The same error, told with the message it was found in. */
  within(where: string): UndecodableText {
    return new UndecodableText(this.what, this.encoding, where);
  }
}

/**
 * Bytes that are not what the protocol says. `offset` counts from the start of the message.
 * The decoder adds the message's name and its LSN, which the cursor cannot know.
 */
export class ProtocolViolation extends PgtailError {
  readonly field: string;
  readonly problem: string;
  readonly offset: number;

  constructor(field: string, problem: string, offset: number, where?: string) {
    super(
      EXIT.protocol,
      `${where === undefined ? '' : `${where}: `}${field}: ${problem} (offset ${offset})`,
    );
    this.field = field;
    this.problem = problem;
    this.offset = offset;
  }

  /** The same violation, told with the message it was found in. */
  within(where: string): ProtocolViolation {
    return new ProtocolViolation(this.field, this.problem, this.offset, where);
  }
}
