// The options of pgoutput: what to ask which server for.
// https://www.postgresql.org/docs/current/protocol-logical-replication.html

import { quoteIdentifier } from './quote-identifier.ts';

/** What to do with large transactions in progress: `buffer` keeps them until they commit. */
export const STREAMING_MODES = ['off', 'on', 'parallel', 'buffer'] as const;

export type Streaming = (typeof STREAMING_MODES)[number];

export interface PgoutputRequest {
  readonly publications: readonly string[];
  /** Ask for logical messages, where the server has them. */
  readonly messages: boolean;
  readonly streaming: Streaming;
  /** Changes the slot for good: never asked for unless the user did. */
  readonly twoPhase: boolean;
  readonly binary: boolean;
  /** `none`: only changes that came from no other server. */
  readonly origin: 'any' | 'none';
}

/** An option that was asked for, and the first major version that has it. */
export interface UnsupportedOption {
  readonly option: string;
  readonly since: number;
}

/** The first option asked for that a server of this major version does not have. */
export function unsupportedOption(
  request: PgoutputRequest,
  major: number,
): UnsupportedOption | undefined {
  const wanted: readonly UnsupportedOption[] = [
    ...(request.binary ? [{ option: '--binary', since: 14 }] : []),
    ...(request.twoPhase ? [{ option: '--two-phase', since: 15 }] : []),
    ...(request.origin === 'none' ? [{ option: '--origin none', since: 16 }] : []),
    ...streamingNeeds(request.streaming),
  ];
  return wanted.find(({ since }) => major < since);
}

function streamingNeeds(streaming: Streaming): readonly UnsupportedOption[] {
  if (streaming === 'off') return [];
  return [{ option: `--streaming ${streaming}`, since: streaming === 'parallel' ? 16 : 14 }];
}

/** The newest protocol version that a server of this major version speaks. */
export function protocolVersion(major: number): 1 | 2 | 3 | 4 {
  if (major >= 16) return 4;
  if (major === 15) return 3;
  return major === 14 ? 2 : 1;
}

export const hasLogicalMessages = (major: number): boolean => major >= 14;

/** Options in the order they are sent, for a server that has what is asked for. */
export function pgoutputOptions(
  request: PgoutputRequest,
  major: number,
): Readonly<Record<string, string>> {
  return {
    proto_version: String(protocolVersion(major)),
    // a list of identifiers: without quotes `MyPub` would be folded to `mypub`
    publication_names: request.publications.map(quoteIdentifier).join(','),
    ...(request.messages && hasLogicalMessages(major) && { messages: 'true' }),
    ...(request.binary && { binary: 'true' }),
    ...streamingOption(request.streaming),
    ...(request.twoPhase && { two_phase: 'on' }),
    ...(request.origin === 'none' && { origin: 'none' }),
  };
}

/** Asked for 'parallel', the server also says where a subtransaction was aborted. */
function streamingOption(streaming: Streaming): { readonly streaming?: string } {
  if (streaming === 'off') return {};
  return { streaming: streaming === 'parallel' ? 'parallel' : 'on' };
}
