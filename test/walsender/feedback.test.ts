// When a status update is due.

import { describe, expect, it } from 'vitest';
import { Feedback } from '../../src/walsender/feedback.ts';

const INTERVAL = 10_000;
const SERVER_TIMEOUT = 60_000;
const AT = 1_796_000_000_000;

/** A status went out at AT that confirmed 0/1000. */
function afterStatus(interval = INTERVAL): Feedback {
  const feedback = new Feedback(interval, SERVER_TIMEOUT);
  feedback.sent(AT, 0x1000n);
  return feedback;
}

describe('a status update', () => {
  it('is due at the start', () => {
    expect(new Feedback(INTERVAL, SERVER_TIMEOUT).isDue(AT, 0n)).toBe(true);
  });

  it('is due again after the interval, or within 50 ms if the position moved', () => {
    expect(afterStatus().dueAt(0x1000n)).toBe(AT + INTERVAL);
    expect(afterStatus().dueAt(0x2000n)).toBe(AT + 50);
    expect(afterStatus().isDue(AT + 49, 0x2000n)).toBe(false);
    expect(afterStatus().isDue(AT + 50, 0x2000n)).toBe(true);
    expect(afterStatus(20).dueAt(0x2000n)).toBe(AT + 20);
  });

  it('waits for nothing with an interval of 0, though the position moved', () => {
    const feedback = new Feedback(0, SERVER_TIMEOUT);
    feedback.sent(AT, 0x1000n);
    expect(feedback.dueAt(0x2000n)).toBe(Number.POSITIVE_INFINITY);
  });

  it('is due at once if the position moved and COMMITs wait for it, whatever the interval', () => {
    for (const interval of [INTERVAL, 0]) {
      const feedback = new Feedback(interval, SERVER_TIMEOUT, true);
      feedback.sent(AT, 0x1000n);
      expect(feedback.isDue(AT, 0x1001n)).toBe(true);
      expect(feedback.isDue(AT, 0x1000n)).toBe(false);
    }
  });

  it('is due at once if the server asks and the position moved', () => {
    const feedback = afterStatus();
    feedback.asked();
    expect(feedback.isDue(AT, 0x1001n)).toBe(true);
  });

  it('answers a server that asks in a loop every 100 ms', () => {
    const feedback = afterStatus();
    feedback.asked();
    expect(feedback.isDue(AT + 99, 0x1000n)).toBe(false);
    expect(feedback.isDue(AT + 100, 0x1000n)).toBe(true);
    feedback.sent(AT + 100, 0x1000n);
    expect(feedback.dueAt(0x1000n)).toBe(AT + 100 + INTERVAL);
  });

  it('answers no later than the timer would', () => {
    const feedback = afterStatus(50);
    feedback.asked();
    expect(feedback.dueAt(0x1000n)).toBe(AT + 50);
  });

  it('is never due by itself with an interval of 0, but the server is answered', () => {
    const feedback = new Feedback(0, SERVER_TIMEOUT);
    expect(feedback.dueAt(0x1000n)).toBe(Number.POSITIVE_INFINITY);
    feedback.asked();
    expect(feedback.isDue(AT, 0n)).toBe(true);
    feedback.sent(AT, 0n);
    feedback.asked();
    expect(feedback.dueAt(0n)).toBe(AT + 100);
  });

  it('goes out four times in wal_sender_timeout while nothing is read from the server', () => {
    const feedback = new Feedback(0, SERVER_TIMEOUT);
    feedback.deaf = true;
    feedback.sent(AT, 0x1000n);
    expect(feedback.dueAt(0x1000n)).toBe(AT + SERVER_TIMEOUT / 4);
    feedback.deaf = false;
    expect(feedback.dueAt(0x1000n)).toBe(Number.POSITIVE_INFINITY);
  });

  it('keeps a shorter interval while nothing is read', () => {
    const feedback = afterStatus();
    feedback.deaf = true;
    expect(feedback.dueAt(0x1000n)).toBe(AT + INTERVAL);
  });

  it('needs no haste for a server without a timeout', () => {
    const feedback = new Feedback(0, 0);
    feedback.deaf = true;
    feedback.sent(AT, 0x1000n);
    expect(feedback.dueAt(0x1000n)).toBe(Number.POSITIVE_INFINITY);
  });
});
