// Frames inside CopyData: positions and keepalives in, status updates out.
// https://www.postgresql.org/docs/current/protocol-replication.html

import { describe, expect, it } from 'vitest';
import { ProtocolViolation } from '../../src/errors.ts';
import {
  encodeStandbyStatus,
  PRIMARY_KEEPALIVE,
  readKeepalive,
  readWalStart,
  XLOG_DATA,
  XLOG_DATA_HEADER_LENGTH,
} from '../../src/wire/replication.ts';
import { writeKeepalive, writeXLogData } from '../support/pgoutput-writer.ts';
import { violationOf } from '../support/violation.ts';

/** What a frame is followed and preceded by in the bytes of a socket read. */
const FENCE = Buffer.from('\xff\xff\xff', 'latin1');

const startOf = (frame: Buffer) => {
  const walStart = { high: 1, low: 1 };
  const bytes = Buffer.concat([FENCE, frame, FENCE]);
  readWalStart(bytes, FENCE.length, FENCE.length + frame.length, walStart);
  return walStart;
};

const keepaliveOf = (frame: Buffer) => {
  const bytes = Buffer.concat([FENCE, frame, FENCE]);
  return readKeepalive(bytes, FENCE.length, FENCE.length + frame.length);
};

describe('an XLogData frame', () => {
  it('starts with its tag and gives its start position as two unsigned halves', () => {
    const frame = writeXLogData(Buffer.from('E'), {
      walStart: 0xfedc_ba98_8765_4321n,
      walEnd: 0xffff_ffff_ffff_ffffn,
      sendTime: 0x0003_046f_057c_76c5n,
    });
    expect(frame[0]).toBe(XLOG_DATA);
    expect(startOf(frame)).toEqual({ high: 0xfedc_ba98, low: 0x8765_4321 });
    expect(frame.subarray(XLOG_DATA_HEADER_LENGTH).toString()).toBe('E');
  });

  it('may carry no message at all', () => {
    const frame = writeXLogData(Buffer.alloc(0), { walStart: 0n });
    expect(startOf(frame)).toEqual({ high: 0, low: 0 });
  });

  it('is refused when its header is cut, at any length', () => {
    const frame = writeXLogData(Buffer.alloc(0), { walStart: 0x16_b374_d848n });
    for (let length = 0; length < XLOG_DATA_HEADER_LENGTH; length++) {
      const cut = () => startOf(frame.subarray(0, length));
      expect(violationOf(cut).message).toBe(`XLogData: a frame of ${length} bytes (offset 0)`);
    }
  });
});

describe('a keepalive', () => {
  it.each([true, false])('tells the end of WAL and whether a reply is wanted: %s', (wanted) => {
    const frame = writeKeepalive({
      walEnd: 0xffff_fffe_b374_d848n,
      sendTime: -1n,
      replyRequested: wanted,
    });
    expect(frame[0]).toBe(PRIMARY_KEEPALIVE);
    expect(keepaliveOf(frame)).toEqual({
      walEnd: 0xffff_fffe_b374_d848n,
      replyRequested: wanted,
    });
  });

  it('is refused when it is shorter or longer than the protocol says', () => {
    const frame = writeKeepalive({ walEnd: 0x16_b374_d848n, replyRequested: true });
    for (let length = 0; length < frame.length; length++) {
      const error = violationOf(() => keepaliveOf(frame.subarray(0, length)));
      expect(error.message).toBe(`keepalive: a frame of ${length} bytes (offset 0)`);
    }
    const long = Buffer.concat([frame, Buffer.from([0])]);
    expect(() => keepaliveOf(long)).toThrow(ProtocolViolation);
  });
});

describe('a standby status update', () => {
  it('holds write, flush, apply, clock and reply in the order of the protocol', () => {
    const frame = encodeStandbyStatus({
      write: 0x16_b374_d848n,
      flush: 0x16_b374_d800n,
      apply: 0xffff_ffff_ffff_fffen,
      clientTime: 0x0003_046f_057c_76c5n,
      replyRequested: true,
    });
    const fields = [
      '72', // 'r'
      '00000016b374d848',
      '00000016b374d800',
      'fffffffffffffffe',
      '0003046f057c76c5',
      '01',
    ];
    expect(frame.toString('hex')).toBe(fields.join(''));
  });

  it('asks for no reply with a zero, and may hold a clock before 2000', () => {
    const frame = encodeStandbyStatus({
      write: 0n,
      flush: 0n,
      apply: 0n,
      clientTime: -1n,
      replyRequested: false,
    });
    expect(frame.toString('hex')).toBe(`72${'00'.repeat(24)}${'ff'.repeat(8)}00`);
  });
});
