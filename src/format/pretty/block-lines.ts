// The lines around changes: where a transaction begins, how it ends, and what became of it.

import { formatLsn, type Lsn } from '../../lsn.ts';
import type {
  CommitPrepared,
  Origin,
  Prepare,
  RollbackPrepared,
  StreamAbort,
  StreamCommit,
} from '../../pgoutput/messages.ts';
import type { Theme } from '../../terminal/theme.ts';
import { type PgTimestamp, timestampToUnixMs } from '../../wire/timestamp.ts';
import { clockText } from './clock.ts';
import { quoted } from './identifier.ts';
import { Line } from './line.ts';
import { formatChanges, formatDuration } from './quantities.ts';

/** A lag worth a second look. */
const LATE_MS = 10_000;

/** What must stay readable after a name of any length. */
const ROOM_AFTER_NAME = 24;

/** Remembers the day it showed last: a date is only said when it is another one. */
export class BlockLines {
  readonly #theme: Theme;
  readonly #utc: boolean;
  readonly #now: () => number;
  #shownDay = '';

  constructor(theme: Theme, utc: boolean, now: () => number) {
    this.#theme = theme;
    this.#utc = utc;
    this.#now = now;
  }

  /** `┌ 745  20:36:50.055  0/16B3900` */
  begin(columns: number, xid: number, time: PgTimestamp, lsn: Lsn): string {
    return this.#where(columns, '┌', xid, time, lsn).end();
  }

  /** `└ commit  7 changes  12 ms behind`; no lag if the commit time is another server's. */
  commit(columns: number, changes: number, time: PgTimestamp, isForeign: boolean): string {
    const line = this.#line(columns).add('└ ', this.#theme.dim).add('commit', this.#theme.good);
    line.add(`  ${formatChanges(changes)}`);
    return this.#addLag(line, time, isForeign).end();
  }

  /** `│ from origin 'node_a'  0/16B3900` */
  origin(columns: number, gutter: string, gutterWidth: number, origin: Origin): string {
    const line = this.#line(columns - gutterWidth).add('from origin ', this.#theme.dim);
    line.add(quoted(origin.name), undefined, line.room - ROOM_AFTER_NAME);
    line.add(`  ${formatLsn(origin.originLsn)}`, this.#theme.dim);
    return gutter + line.end();
  }

  /** `└ cut off  it comes again from its beginning` */
  cutOff(columns: number): string {
    const line = this.#line(columns).add('└ ', this.#theme.dim);
    line.add('cut off', this.#theme.warning);
    return line.add('  it comes again from its beginning', this.#theme.dim).end();
  }

  /** `┌ 745  20:36:50.055  0/16B3900  prepared 'order-77'` */
  beginPrepare(columns: number, prepare: Prepare): string {
    const { xid, prepareTime, prepareLsn, gid } = prepare;
    const line = this.#where(columns, '┌', xid, prepareTime, prepareLsn);
    return line.add('  prepared ').add(quoted(gid)).end();
  }

  /** `└ prepared, not committed yet  3 changes` */
  prepare(columns: number, changes: number): string {
    const line = this.#line(columns).add('└ ', this.#theme.dim);
    line.add('prepared, not committed yet', this.#theme.warning);
    return line.add(`  ${formatChanges(changes)}`).end();
  }

  /** `─ 745  20:36:50.055  0/16B3900  commit prepared 'order-77'` */
  commitPrepared(columns: number, commit: CommitPrepared): string {
    const line = this.#where(columns, '─', commit.xid, commit.commitTime, commit.commitLsn);
    return line.add('  commit prepared ', this.#theme.good).add(quoted(commit.gid)).end();
  }

  rollbackPrepared(columns: number, rollback: RollbackPrepared): string {
    const { xid, rollbackTime, rollbackEndLsn, gid } = rollback;
    const line = this.#where(columns, '─', xid, rollbackTime, rollbackEndLsn);
    return line.add('  rollback prepared ', this.#theme.delete).add(quoted(gid)).end();
  }

  /** `┊ 745  in progress, not committed yet` */
  streamStart(columns: number, xid: number): string {
    const line = this.#line(columns).add('┊ ', this.#theme.dim);
    line.add(String(xid), this.#theme.strong);
    return line.add('  in progress, not committed yet', this.#theme.warning).end();
  }

  /** `─ 745  20:36:50.055  0/16B3900  commit  1,801 changes  12 ms behind` */
  streamCommit(columns: number, commit: StreamCommit, changes: number, isForeign: boolean): string {
    const { xid, commitTime, commitLsn } = commit;
    const line = this.#where(columns, '─', xid, commitTime, commitLsn);
    line.add('  commit', this.#theme.good).add(`  ${formatChanges(changes)}`);
    return this.#addLag(line, commitTime, isForeign).end();
  }

  /** `─ 745  rollback  its lines above are void`, or those of one subtransaction. */
  streamAbort(columns: number, { xid, subxid }: StreamAbort): string {
    const isWhole = subxid === xid;
    const line = this.#line(columns).add(isWhole ? '─ ' : '┊ ', this.#theme.dim);
    line.add(isWhole ? String(xid) : `${xid}/${subxid}`, this.#theme.strong);
    line.add('  rollback', this.#theme.delete);
    return line.add(`  lines of ${subxid} above are void`, this.#theme.dim).end();
  }

  /** `─ 745  20:36:50.055  0/16B3900  prepared 'order-77', not committed yet  3 changes` */
  streamPrepare(columns: number, prepare: Prepare, changes: number): string {
    const { xid, prepareTime, prepareLsn, gid } = prepare;
    const line = this.#where(columns, '─', xid, prepareTime, prepareLsn).add('  prepared ');
    line.add(quoted(gid), undefined, line.room - ROOM_AFTER_NAME);
    line.add(', not committed yet', this.#theme.warning);
    return line.add(`  ${formatChanges(changes)}`).end();
  }

  #line(columns: number): Line {
    return new Line(this.#theme, columns);
  }

  #where(columns: number, frame: string, xid: number, time: PgTimestamp, lsn: Lsn): Line {
    const line = this.#line(columns).add(`${frame} `, this.#theme.dim);
    line.add(String(xid), this.#theme.strong).add(`  ${this.#clock(time)}`);
    return line.add(`  ${formatLsn(lsn)}`, this.#theme.dim);
  }

  #clock(timestamp: PgTimestamp): string {
    const { day, time, zone } = clockText(timestamp, this.#utc);
    if (day === this.#shownDay) return time;
    this.#shownDay = day;
    return `${day} ${time} ${zone}`.trimEnd();
  }

  #addLag(line: Line, time: PgTimestamp, isForeign: boolean): Line {
    const lag = this.#now() - timestampToUnixMs(time);
    // clocks that differ a little, or an origin that set no time (2000-01-01)
    if (isForeign || lag < 0 || time === 0n) return line;
    const paint = lag < LATE_MS ? this.#theme.dim : this.#theme.warning;
    return line.add(`  ${formatDuration(lag)} behind`, paint);
  }
}
