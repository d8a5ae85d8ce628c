// What `pgtail slots --watch` shows: the latest look, and that the server is away if it is.

import type { PgtailError } from '../errors.ts';
import { formatDuration } from '../format/quantities.ts';
import { slotsDocument } from '../slots/document.ts';
import { slotsLines } from '../slots/pretty.ts';
import type { SlotsReport } from '../slots/report.ts';
import { type SlotsTrend, slotsTrend } from '../slots/trend.ts';
import type { Theme } from '../terminal/theme.ts';
import { wrapText } from '../terminal/wrap.ts';
import { columnsOf, documentText, type Inspection, prettyLayout } from './inspection.ts';
import { openLines, openScreen, type RepeatedOutput } from './repeated-output.ts';
import { printNotice } from './standard-error.ts';

interface Look {
  readonly report: SlotsReport;
  /** Undefined: there was none right before. */
  readonly trend: SlotsTrend | undefined;
  /** Of a clock that nobody sets, in ms. */
  readonly at: number;
}

function lookAt(report: SlotsReport, before?: Look): Look {
  const at = performance.now();
  const trend = before && slotsTrend(before.report, report, (at - before.at) / 1000);
  return { report, trend, at };
}

/** To be closed at the end. */
export async function openPicture(
  first: SlotsReport,
  inspection: Inspection,
): Promise<SlotsPicture> {
  const { onTerminal, options } = inspection;
  const { theme } = await prettyLayout(inspection);
  if (!onTerminal || options.format !== 'pretty') {
    return new SlotsPicture(first, inspection, theme, await openLines(), false);
  }
  const screen = openScreen(() => picture.draw());
  const picture = new SlotsPicture(first, inspection, theme, screen, true);
  return picture;
}

export class SlotsPicture {
  readonly #inspection: Inspection;
  readonly #theme: Theme;
  readonly #output: RepeatedOutput;
  /** Drawn in place: what is not data stands in the picture too. */
  readonly #isScreen: boolean;
  #look: Look;
  #reason: PgtailError | undefined;
  #attempts = 0;
  /** For so many ms the server has not answered; 0: it has, or it is away. */
  #unanswered = 0;

  constructor(
    first: SlotsReport,
    inspection: Inspection,
    theme: Theme,
    output: RepeatedOutput,
    isScreen: boolean,
  ) {
    this.#inspection = inspection;
    this.#theme = theme;
    this.#output = output;
    this.#isScreen = isScreen;
    this.#look = lookAt(first);
    this.draw();
  }

  /** Nobody looks at it any more. */
  get gone(): AbortSignal {
    return this.#output.gone;
  }

  /** How often in succession the server was asked in vain. */
  get attempts(): number {
    return this.#attempts;
  }

  seen(report: SlotsReport): void {
    const isBack = this.#attempts > 0;
    if (isBack && !this.#isScreen) this.#tell('connected again', 1);
    else if (this.#unanswered > 0 && !this.#isScreen) this.#tell('the server answers again', 1);
    // what was written while it was away has no rate
    this.#look = lookAt(report, isBack ? undefined : this.#look);
    this.#reason = undefined;
    this.#attempts = 0;
    this.#unanswered = 0;
    this.draw();
  }

  missed(reason: PgtailError): void {
    this.#reason = reason;
    this.#attempts++;
    this.#unanswered = 0;
    if (this.#isScreen) this.draw();
    else this.#tell(`${reason.message}: trying to connect again`, this.#attempts);
  }

  /** `waited`: in ms, longer each time. */
  unanswered(waited: number): void {
    if (this.#attempts > 0) return; // that it is away says as much
    const isFirst = this.#unanswered === 0;
    this.#unanswered = waited;
    if (this.#isScreen) this.draw();
    else if (isFirst) this.#tell(`${this.#unansweredText()}: still waiting`, 1);
  }

  draw(): void {
    this.#output.show([...this.#absence(), ...this.#lines()]);
  }

  /** @throws PgtailError if it could not be written */
  close(): void {
    this.#output.close();
  }

  /** Told the first time, and then only to those who want to know more. */
  #tell(notice: string, time: number): void {
    const { verbosity } = this.#inspection.options;
    if (verbosity === 'verbose' || (verbosity === 'normal' && time === 1)) printNotice(notice);
  }

  #absence(): readonly string[] {
    const text = this.#absenceText();
    if (text === undefined) return [];
    const lines = wrapText(`! ${text}; as last seen:`, columnsOf(true));
    return [...lines.map(this.#theme.warning), ''];
  }

  #absenceText(): string | undefined {
    if (this.#reason !== undefined) {
      return `${this.#reason.message}: trying to connect again (${this.#attempts})`;
    }
    return this.#unanswered > 0 ? this.#unansweredText() : undefined;
  }

  #unansweredText(): string {
    return `the server has not answered for ${formatDuration(this.#unanswered)}`;
  }

  #lines(): readonly string[] {
    const { report, trend } = this.#look;
    const { format, verbosity } = this.#inspection.options;
    if (format === 'json') return [documentText(slotsDocument(report, trend), false).trimEnd()];
    const verbose = verbosity === 'verbose';
    return slotsLines(report, { theme: this.#theme, columns: columnsOf(true), verbose, trend });
  }
}
