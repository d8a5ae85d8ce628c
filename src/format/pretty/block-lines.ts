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
import { formatCounted, formatDuration } from '../quantities.ts';
import type { Clock } from './clock.ts';
import { quoted } from './identifier.ts';
import { type Gutter, IN_PROGRESS, type StreamedTransaction } from './lanes.ts';
import { Line } from './line.ts';
import { rowsText, standingText, takenBackText, voidText, xidList } from './outcome-text.ts';
import type { PreparedTransaction } from './prepared-transactions.ts';
import type { RolledBack } from './shown-rows.ts';

/** A lag worth a second look. */
const LATE_MS = 10_000;

/** What must stay readable after a name of any length, and of the name itself. */
const ROOM_AFTER_NAME = 24;
const ROOM_AFTER_GID = 34;
const SHORTEST_NAME = 8;

/** Remembers the day it showed last, and its offset: they are only said when they are others. */
export class BlockLines {
  readonly #theme: Theme;
  readonly #clockText: Clock;
  readonly #now: () => number;
  #shownDay = '';

  constructor(theme: Theme, clock: Clock, now: () => number) {
    this.#theme = theme;
    this.#clockText = clock;
    this.#now = now;
  }

  /** `┌ 745  20:36:50.055  0/16B3900` */
  begin(columns: number, xid: number, time: PgTimestamp, lsn: Lsn): string {
    return this.#beginning(columns, xid, time, lsn).end();
  }

  /** `└ commit  7 changes  12 ms behind`; no lag if the commit time is another server's. */
  commit(columns: number, changes: number, time: PgTimestamp, isForeign: boolean): string {
    const line = this.#line(columns).add('└ ', this.#theme.dim).add('commit', this.#theme.good);
    line.add(`  ${formatCounted(changes, 'change')}`);
    return this.#addLag(line, time, isForeign).end();
  }

  /** `│ from origin 'node_a'  0/16B3900` */
  origin(columns: number, { gutter, width }: Gutter, origin: Origin): string {
    const line = this.#line(columns - width).add('from origin ', this.#theme.dim);
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
    const line = this.#beginning(columns, xid, prepareTime, prepareLsn);
    return line.add('  prepared ').add(quoted(gid)).end();
  }

  /** `└ prepared, not committed yet  3 changes` */
  prepare(columns: number, changes: number): string {
    const line = this.#line(columns).add('└ ', this.#theme.dim);
    line.add('prepared, not committed yet', this.#theme.warning);
    return line.add(`  ${formatCounted(changes, 'change')}`).end();
  }

  /** `─ 745  commit prepared 'order-77'  3 rows stand  12 ms behind  20:36:50.055  0/16B3900` */
  commitPrepared(columns: number, commit: CommitPrepared, shown?: PreparedTransaction): string {
    const { xid, gid, commitTime, commitLsn } = commit;
    const line = this.#outcome(columns, xid).add('commit prepared ', this.#theme.good);
    this.#addGid(line, gid, ROOM_AFTER_NAME);
    if (shown === undefined) line.addWhole('  rows not shown here', this.#theme.dim);
    else line.add(`  ${standingText(shown.rows, shown)}`);
    // without its beginning we do not know whose clock this is
    this.#addLag(line, commitTime, shown?.isForeign ?? true);
    return this.#addWhen(line, commitTime, commitLsn).end();
  }

  /** `─ 745  rollback prepared 'order-77'  3 rows above do not stand  20:36:50.055  0/16B3900` */
  rollbackPrepared(
    columns: number,
    rollback: RollbackPrepared,
    shown?: PreparedTransaction,
  ): string {
    const { xid, gid, rollbackTime, rollbackEndLsn } = rollback;
    const line = this.#outcome(columns, xid).add('rollback prepared ', this.#theme.delete);
    this.#addGid(line, gid, ROOM_AFTER_NAME);
    if (shown === undefined) line.addWhole('  rows not shown here', this.#theme.dim);
    else this.#addVoid(line, { ...shown, rows: shown.isExact ? shown.rows : undefined }, '');
    return this.#addWhen(line, rollbackTime, rollbackEndLsn).end();
  }

  /** `┊ 745  in progress, not committed yet  like every line with ┊` */
  streamStart(columns: number, { gutter, width }: Gutter): string {
    const line = this.#line(columns - width);
    line.add(' in progress, not committed yet', this.#theme.warning);
    return gutter + line.addWhole(`  like every line with ${IN_PROGRESS}`, this.#theme.dim).end();
  }

  /**
   * `─ 745  commit  1,148 rows stand, 900 taken back by rollback of 746  12 ms behind`, and where
   * it fits the time and the LSN.
   */
  streamCommit(columns: number, commit: StreamCommit, streamed: StreamedTransaction): string {
    const { commitTime, commitLsn } = commit;
    const { shown, isForeign } = streamed;
    const line = this.#streamedOutcome(columns, streamed).add('commit', this.#theme.good);
    line.add(`  ${standingText(shown.standing, shown)}`);
    line.add(takenBackText(shown), this.#theme.delete);
    this.#addLag(line, commitTime, isForeign);
    return this.#addWhen(line, commitTime, commitLsn).end();
  }

  /** `─ 745  rollback  none of its 1,801 rows stand` */
  streamAbort(columns: number, { abort }: StreamAbort, streamed: StreamedTransaction): string {
    const { standing, takenBack, noun } = streamed.shown;
    const { struckOut } = this.#theme;
    const line = this.#streamedOutcome(columns, streamed).add('rollback', this.#theme.delete);
    const rows = standing + takenBack;
    if (rows < 2) this.#addVoid(line, { rows, noun }, '');
    else line.add('  none of its ').add(formatCounted(rows, noun), struckOut).add(' stand');
    return this.#addWhen(line, abort?.time, abort?.lsn).end();
  }

  /** `┊ 745/746  rollback  900 rows of 746 above do not stand` */
  subtransactionAbort(
    columns: number,
    { gutter, width }: Gutter,
    { subxid, abort }: StreamAbort,
    rolledBack: RolledBack,
  ): string {
    const line = this.#line(columns - width).add(' rollback', this.#theme.delete);
    this.#addVoid(line, rolledBack, ` of ${subxid}`);
    return gutter + this.#addWhen(line, abort?.time, abort?.lsn).end();
  }

  /**
   * `─ 745  prepared 'order-77', not committed yet  3 rows, 900 taken back by rollback of 746`, and
   * where it fits the time and the LSN.
   */
  streamPrepare(columns: number, prepare: Prepare, streamed: StreamedTransaction): string {
    const { prepareTime, prepareLsn, gid } = prepare;
    const { shown } = streamed;
    const line = this.#streamedOutcome(columns, streamed).add('prepared ');
    this.#addGid(line, gid, ROOM_AFTER_GID);
    line.add(', not committed yet', this.#theme.warning);
    line.add(`  ${rowsText(shown.standing, shown)}`);
    line.add(takenBackText(shown), this.#theme.delete);
    return this.#addWhen(line, prepareTime, prepareLsn).end();
  }

  /**
   * `─ restart behind 0/16B3900  the stream begins anew` and, if any,
   * `  void above: lines of 745, 789 and 3 more  whatever commits comes again`
   */
  restart(columns: number, afterLsn: Lsn | undefined, voidXids: readonly number[]): string {
    const line = this.#line(columns).add('─ ', this.#theme.dim).add('restart', this.#theme.warning);
    if (afterLsn !== undefined) line.add(` behind ${formatLsn(afterLsn)}`);
    line.addWhole('  the stream begins anew', this.#theme.dim);
    if (voidXids.length === 0) return line.end();
    return line.end() + this.#voidTransactions(columns, voidXids);
  }

  /** `─ gap from 0/16B3900 to 0/16B4000  changes between may be missing` */
  gap(columns: number, afterLsn: Lsn | undefined, resumedAt: Lsn): string {
    const line = this.#line(columns).add('─ ', this.#theme.dim).add('gap', this.#theme.warning);
    if (afterLsn !== undefined) line.add(` from ${formatLsn(afterLsn)}`);
    line.add(` to ${formatLsn(resumedAt)}`);
    return line.addWhole('  changes between may be missing', this.#theme.dim).end();
  }

  #voidTransactions(columns: number, xids: readonly number[]): string {
    const line = this.#line(columns).add('  void above: lines of ', this.#theme.delete);
    const list = xidList(xids, line.room);
    line.add(list, this.#theme.strong);
    return line.addWhole('  whatever commits comes again', this.#theme.dim).end();
  }

  #line(columns: number): Line {
    return new Line(this.#theme, columns);
  }

  #beginning(columns: number, xid: number, time: PgTimestamp, lsn: Lsn): Line {
    const line = this.#line(columns).add('┌ ', this.#theme.dim);
    line.add(String(xid), this.#theme.strong).add(`  ${this.#clock(time)}`);
    return line.add(`  ${formatLsn(lsn)}`, this.#theme.dim);
  }

  #outcome(columns: number, xid: number): Line {
    const line = this.#line(columns).add('─ ', this.#theme.dim);
    return line.add(String(xid), this.#theme.strong).add('  ');
  }

  #streamedOutcome(columns: number, { xid, paint }: StreamedTransaction): Line {
    return this.#line(columns).add(`─ ${xid}`, paint).add('  ');
  }

  #addGid(line: Line, gid: string, roomAfter: number): void {
    line.add(quoted(gid), undefined, Math.max(line.room - roomAfter, SHORTEST_NAME));
  }

  #addVoid(line: Line, { rows, noun }: RolledBack, whose: string): void {
    line.add('  ').add(`${voidText(rows, noun)}${whose} above`, this.#theme.struckOut);
    line.add(rows === 1 ? ' does not stand' : ' do not stand');
  }

  #clock(timestamp: PgTimestamp): string {
    const { day, time, zone } = this.#clockText(timestamp);
    const shownDay = `${day} ${zone}`;
    if (shownDay === this.#shownDay) return time;
    this.#shownDay = shownDay;
    return `${day} ${time} ${zone}`.trimEnd();
  }

  /** Only what fits whole: what became of the rows says more than when. */
  #addWhen(line: Line, time: PgTimestamp | undefined, lsn: Lsn | undefined): Line {
    if (time === undefined || lsn === undefined) return line;
    const shownDay = this.#shownDay;
    const clock = `  ${this.#clock(time)}`;
    if (line.fits(clock)) line.add(clock);
    else this.#shownDay = shownDay;
    return line.addWhole(`  ${formatLsn(lsn)}`, this.#theme.dim);
  }

  #addLag(line: Line, time: PgTimestamp, isForeign: boolean): Line {
    const lag = this.#now() - timestampToUnixMs(time);
    // clocks that differ a little, or an origin that set no time (2000-01-01)
    if (isForeign || lag < 0 || time === 0n) return line;
    const paint = lag < LATE_MS ? this.#theme.dim : this.#theme.warning;
    return line.addWhole(`  ${formatDuration(lag)} behind`, paint);
  }
}
