// The built-in types a column can have: OIDs never change once a release has assigned them.
// https://www.postgresql.org/docs/current/catalog-pg-type.html (values as of PostgreSQL 18)

export interface BuiltinType {
  readonly typeId: number;
  /** pg_type.typname */
  readonly name: string;
  /** The OID of the type's array type. */
  readonly arrayTypeId: number;
}

// typname, OID, OID of the array type
const BUILTIN_TYPES: readonly BuiltinType[] = (
  [
    ['bool', 16, 1000],
    ['bytea', 17, 1001],
    ['char', 18, 1002],
    ['name', 19, 1003],
    ['int8', 20, 1016],
    ['int2', 21, 1005],
    ['int2vector', 22, 1006],
    ['int4', 23, 1007],
    ['regproc', 24, 1008],
    ['text', 25, 1009],
    ['oid', 26, 1028],
    ['tid', 27, 1010],
    ['xid', 28, 1011],
    ['cid', 29, 1012],
    ['oidvector', 30, 1013],
    ['json', 114, 199],
    ['xml', 142, 143],
    ['point', 600, 1017],
    ['lseg', 601, 1018],
    ['path', 602, 1019],
    ['box', 603, 1020],
    ['polygon', 604, 1027],
    ['line', 628, 629],
    ['cidr', 650, 651],
    ['float4', 700, 1021],
    ['float8', 701, 1022],
    ['circle', 718, 719],
    ['macaddr8', 774, 775],
    ['money', 790, 791],
    ['macaddr', 829, 1040],
    ['inet', 869, 1041],
    ['aclitem', 1033, 1034],
    ['bpchar', 1042, 1014],
    ['varchar', 1043, 1015],
    ['date', 1082, 1182],
    ['time', 1083, 1183],
    ['timestamp', 1114, 1115],
    ['timestamptz', 1184, 1185],
    ['interval', 1186, 1187],
    ['timetz', 1266, 1270],
    ['bit', 1560, 1561],
    ['varbit', 1562, 1563],
    ['numeric', 1700, 1231],
    ['refcursor', 1790, 2201],
    ['regprocedure', 2202, 2207],
    ['regoper', 2203, 2208],
    ['regoperator', 2204, 2209],
    ['regclass', 2205, 2210],
    ['regtype', 2206, 2211],
    ['uuid', 2950, 2951],
    ['txid_snapshot', 2970, 2949],
    ['pg_lsn', 3220, 3221],
    ['tsvector', 3614, 3643],
    ['gtsvector', 3642, 3644],
    ['tsquery', 3615, 3645],
    ['regconfig', 3734, 3735],
    ['regdictionary', 3769, 3770],
    ['jsonb', 3802, 3807],
    ['int4range', 3904, 3905],
    ['numrange', 3906, 3907],
    ['tsrange', 3908, 3909],
    ['tstzrange', 3910, 3911],
    ['daterange', 3912, 3913],
    ['int8range', 3926, 3927],
    ['jsonpath', 4072, 4073],
    ['regnamespace', 4089, 4090],
    ['regrole', 4096, 4097],
    ['regcollation', 4191, 4192],
    ['int4multirange', 4451, 6150],
    ['nummultirange', 4532, 6151],
    ['tsmultirange', 4533, 6152],
    ['tstzmultirange', 4534, 6153],
    ['datemultirange', 4535, 6155],
    ['int8multirange', 4536, 6157],
    ['pg_snapshot', 5038, 5039],
    ['xid8', 5069, 271],
  ] as const
).map(([name, typeId, arrayTypeId]) => ({ typeId, name, arrayTypeId }));

const BY_ID = new Map(BUILTIN_TYPES.map((type) => [type.typeId, type]));
const BY_ARRAY_ID = new Map(BUILTIN_TYPES.map((type) => [type.arrayTypeId, type]));
const BY_NAME = new Map(BUILTIN_TYPES.map((type) => [type.name, type]));

/** Types and array types of the table above. */
export const BUILTIN_TYPE_IDS: readonly number[] = [...BY_ID.keys(), ...BY_ARRAY_ID.keys()];

/** Whether all is known of the type without asking the server. */
export const isBuiltinType = (typeId: number): boolean =>
  BY_ID.has(typeId) || BY_ARRAY_ID.has(typeId);

export const builtinType = (typeId: number): BuiltinType | undefined => BY_ID.get(typeId);

/** The element type of a built-in array type. */
export const builtinArrayElement = (arrayTypeId: number): BuiltinType | undefined =>
  BY_ARRAY_ID.get(arrayTypeId);

export const builtinTypeNamed = (name: string): BuiltinType | undefined => BY_NAME.get(name);

/** Type OIDs that code outside this table speaks about by name. */
export const OID = {
  bool: 16,
  bytea: 17,
  char: 18,
  int8: 20,
  int2: 21,
  int2vector: 22,
  int4: 23,
  oid: 26,
  oidvector: 30,
  json: 114,
  box: 603,
  float4: 700,
  float8: 701,
  bpchar: 1042,
  varchar: 1043,
  date: 1082,
  time: 1083,
  timestamp: 1114,
  timestamptz: 1184,
  interval: 1186,
  timetz: 1266,
  bit: 1560,
  varbit: 1562,
  numeric: 1700,
  jsonb: 3802,
} as const;
