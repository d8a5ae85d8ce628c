// The options of pgoutput: what to ask which server for.
// https://www.postgresql.org/docs/current/protocol-logical-replication.html

export interface PgoutputRequest {
  readonly publications: readonly string[];
  /** Ask for logical messages, where the server has them. */
  readonly messages: boolean;
}

/** What one major version can be asked for. */
interface Capability {
  readonly major: number;
  readonly protocolVersion: number;
}

const PROTOCOL_VERSIONS: readonly Capability[] = [
  { major: 16, protocolVersion: 4 },
  { major: 15, protocolVersion: 3 },
  { major: 14, protocolVersion: 2 },
];

export const hasLogicalMessages = (major: number): boolean => major >= 14;

/** Options in the order they are sent, for a server of this major version. */
export function pgoutputOptions(
  request: PgoutputRequest,
  major: number,
): Readonly<Record<string, string>> {
  const newest = PROTOCOL_VERSIONS.find((capability) => major >= capability.major);
  return {
    proto_version: String(newest?.protocolVersion ?? 1),
    publication_names: request.publications.map(quoteIdentifier).join(','),
    ...(request.messages && hasLogicalMessages(major) && { messages: 'true' }),
  };
}

/** The option is a list of identifiers: without quotes `MyPub` would be folded to `mypub`. */
function quoteIdentifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
