// Builds one line of safe, coloured text that never grows wider than it may.

import { fitText } from '../../terminal/safe-text.ts';
import type { Paint, Theme } from '../../terminal/theme.ts';

export class Line {
  readonly #theme: Theme;
  readonly #columns: number;
  #text = '';
  #width = 0;

  constructor(theme: Theme, columns: number) {
    this.#theme = theme;
    this.#columns = columns;
  }

  /** The columns that are left. */
  get room(): number {
    return this.#columns - this.#width;
  }

  /** Appends any text: made safe, painted, and cut with `…` if it is wider than `limit`. */
  add(text: string, paint: Paint = asIs, limit = this.room): this {
    const most = Math.max(0, Math.min(limit, this.room));
    let fitted = fitText(text, most, this.#theme.escape);
    if (!fitted.whole && most > 0) {
      const cut = fitText(text, most - 1, this.#theme.escape);
      fitted = { text: `${cut.text}…`, width: cut.width + 1, whole: false };
    }
    this.#text += paint(fitted.text);
    this.#width += fitted.width;
    return this;
  }

  /** Whether `addWhole` would append the text. */
  fits(text: string): boolean {
    return fitText(text, this.room).whole;
  }

  /** Appends the text if there is room for all of it. */
  addWhole(text: string, paint: Paint = asIs): this {
    return this.fits(text) ? this.add(text, paint) : this;
  }

  /** The line with its break. */
  end(): string {
    return `${this.#text}\n`;
  }
}

const asIs: Paint = (text) => text;
