// What was recorded of one shape of rows: read once, played many times.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ReadMessage, type RecordedMessage, unpackMessages } from './frames-file.ts';

export type TupleFormat = 'text' | 'binary';

export interface Recording {
  /** The whole transaction as it was sent. */
  readonly messages: readonly ReadMessage[];
  /** Without what a connection announces one time only. */
  readonly repeated: readonly ReadMessage[];
  readonly rows: number;
  /** Of the repeated messages. */
  readonly bytes: number;
}

const ANNOUNCEMENTS = ['R', 'Y'];
const ROWS = ['I', 'U', 'D'];

export const recordingFile = (folder: string, shape: string, format: TupleFormat): string =>
  join(folder, `${shape}.${format}.gz`);

export function readRecording(folder: string, shape: string, format: TupleFormat): Recording {
  return recordingOf(unpackMessages(readFileSync(recordingFile(folder, shape, format))));
}

export function recordingOf(messages: readonly ReadMessage[]): Recording {
  const repeated = messages.filter((message) => !ANNOUNCEMENTS.includes(tag(message)));
  return {
    messages,
    repeated,
    rows: repeated.filter((message) => ROWS.includes(tag(message))).length,
    bytes: repeated.reduce((sum, { bytes }) => sum + bytes.length, 0),
  };
}

export const tag = ({ bytes }: RecordedMessage): string => String.fromCharCode(bytes[0]!);
