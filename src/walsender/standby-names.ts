// synchronous_standby_names: whom a COMMIT waits for, and the same without the name that anybody has.
// https://www.postgresql.org/docs/current/runtime-config-replication.html#GUC-SYNCHRONOUS-STANDBY-NAMES

export interface StandbyNames {
  /** `ANY 2 (`, `FIRST 1 (`, `2 (`, or empty, as it was written. */
  readonly method: string;
  /** How many standbys a COMMIT waits for. */
  readonly count: number;
  /** As written: those in quotes with their quotes. */
  readonly members: readonly string[];
}

const METHOD = /^\s*(?:(?:FIRST|ANY)\s+)?(\d+)\s*\(/i;
const MEMBER = /"(?:[^"]|"")*"|[^\s",()]+/g;

export function parseStandbyNames(text: string): StandbyNames {
  const [method = '', count = '1'] = METHOD.exec(text) ?? [];
  const members = text.slice(method.length).match(MEMBER) ?? [];
  return { method, count: Number(count), members };
}

export const printStandbyNames = ({ method, members }: StandbyNames): string =>
  `${method}${members.join(', ')}${method === '' ? '' : ')'}`;

/** The server takes it in quotes, too. */
const isAny = (member: string): boolean => member === '*' || member === '"*"';

export const takesAny = ({ members }: StandbyNames): boolean => members.some(isAny);

/** In the place of `*` those of `standbys` that have no place of their own. */
export function withoutAny(names: StandbyNames, standbys: readonly string[]): StandbyNames {
  const others = standbys
    .filter((name) => !hasName(names, name))
    .map((name) => `"${name.replaceAll('"', '""')}"`);
  const place = names.members.findIndex(isAny);
  const members = names.members.flatMap((member, index) => {
    if (index === place) return others;
    return isAny(member) ? [] : [member];
  });
  return { ...names, members };
}

/** The server ignores case, also of a name in quotes. */
export const hasName = ({ members }: StandbyNames, name: string): boolean =>
  members.some((member) => nameOf(member).toLowerCase() === name.toLowerCase());

const nameOf = (member: string): string =>
  member.startsWith('"') ? member.slice(1, -1).replaceAll('""', '"') : member;
