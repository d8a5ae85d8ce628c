// The options of pgoutput: what to ask which server for.
// https://www.postgresql.org/docs/current/protocol-logical-replication.html

export interface PgoutputRequest {
  readonly publications: readonly string[];
  /** Ask for logical messages, where the server has them. */
  readonly messages: boolean;
}

/** The newest protocol version that a server of this major version speaks. */
export function protocolVersion(major: number): 1 | 2 | 3 | 4 {
  if (major >= 16) return 4;
  if (major === 15) return 3;
  return major === 14 ? 2 : 1;
}

export const hasLogicalMessages = (major: number): boolean => major >= 14;

/** Options in the order they are sent, for a server of this major version. */
export function pgoutputOptions(
  request: PgoutputRequest,
  major: number,
): Readonly<Record<string, string>> {
  return {
    proto_version: String(protocolVersion(major)),
    publication_names: request.publications.map(quoteIdentifier).join(','),
    ...(request.messages && hasLogicalMessages(major) && { messages: 'true' }),
  };
}

/** The option is a list of identifiers: without quotes `MyPub` would be folded to `mypub`. */
function quoteIdentifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
