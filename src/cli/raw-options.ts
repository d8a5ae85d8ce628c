// What commander hands over: strings, lists and flags, not checked yet.

export type RawOptions = Readonly<Record<string, unknown>>;
