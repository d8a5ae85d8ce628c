// A handler that does nothing: what remains is the decoder.

import type { PgoutputHandler } from '../../src/pgoutput/handler.ts';

export class NoOutput implements PgoutputHandler {
  begin(): void {}
  commit(): void {}
  origin(): void {}
  relation(): void {}
  type(): void {}
  insert(): void {}
  update(): void {}
  delete(): void {}
  truncate(): void {}
  message(): void {}
  streamStart(): void {}
  streamStop(): void {}
  streamCommit(): void {}
  streamAbort(): void {}
  beginPrepare(): void {}
  prepare(): void {}
  commitPrepared(): void {}
  rollbackPrepared(): void {}
  streamPrepare(): void {}
}
