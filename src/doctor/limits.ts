// From where on something is worth a finding, each with its reason.

export interface Limits {
  /** In ms. */
  readonly oldTransaction: number;
  /** In ms. */
  readonly shortWalSenderTimeout: number;
  /** Sessions at the same time. */
  readonly sessionsOfTail: number;
  /** Times logical_decoding_work_mem. */
  readonly muchSpilled: number;
}

export const LIMITS: Limits = {
  // an application’s transactions take seconds, a report’s a few minutes, a forgotten one stays
  oldTransaction: 5 * 60_000,
  // a full garbage collection or a network that repeats a lost packet a few times takes as long
  shortWalSenderTimeout: 5000,
  // the stream, and a short one for what is looked up meanwhile
  sessionsOfTail: 2,
  // a single large import spills a few times as much; this is the ordinary load
  muchSpilled: 16,
};
