// Whether bytes are one JSON value: only looks, keeps nothing of it.
// https://www.rfc-editor.org/rfc/rfc8259

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const LETTER_U = 0x75;

/** Bytes that end a number or a word. */
const ENDS = new Uint8Array(256);
for (const byte of Buffer.from(' \t\n\r,]}')) ENDS[byte] = 1;

const ESCAPED = new Uint8Array(256);
for (const byte of Buffer.from('"\\\\/bfnrt')) ESCAPED[byte] = 1;

/** A numeric has at most 131,072 digits before its point and 16,383 behind it. */
const LONGEST_WORD = 150_000;
const WORD = /^(true|false|null|-?(0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?)$/;

export function isJson(source: Buffer, start: number, end: number): boolean {
  return new JsonChecker(source, start, end).check();
}

class JsonChecker {
  readonly #source: Buffer;
  readonly #end: number;
  #at: number;
  /** The closing bytes of the containers that are open. */
  readonly #open: number[] = [];

  constructor(source: Buffer, start: number, end: number) {
    this.#source = source;
    this.#at = start;
    this.#end = end;
  }

  check(): boolean {
    do {
      if (!this.#value()) return false;
      if (!this.#closeContainers()) return false;
    } while (this.#open.length > 0);
    return this.#at === this.#end;
  }

  /** A scalar, an empty container, or the beginning of one up to its first value. */
  #value(): boolean {
    for (;;) {
      this.#skipSpace();
      const byte = this.#source[this.#at];
      if (this.#at >= this.#end) return false;
      if (byte === QUOTE) return this.#string();
      if (byte !== OPEN_BRACKET && byte !== OPEN_BRACE) return this.#word();
      this.#at++;
      this.#open.push(byte === OPEN_BRACE ? CLOSE_BRACE : CLOSE_BRACKET);
      this.#skipSpace();
      if (this.#atClosing()) return true;
      if (byte === OPEN_BRACE && !this.#key()) return false;
    }
  }

  /** Behind a value: what closes, or a comma and, in an object, the next key. */
  #closeContainers(): boolean {
    for (;;) {
      this.#skipSpace();
      const closing = this.#open.at(-1);
      if (closing === undefined) return true;
      if (this.#atClosing()) {
        this.#at++;
        this.#open.pop();
        continue;
      }
      if (this.#at >= this.#end || this.#source[this.#at] !== COMMA) return false;
      this.#at++;
      this.#skipSpace();
      return closing === CLOSE_BRACKET || this.#key();
    }
  }

  #atClosing(): boolean {
    return this.#at < this.#end && this.#source[this.#at] === this.#open.at(-1);
  }

  #key(): boolean {
    if (this.#at >= this.#end || this.#source[this.#at] !== QUOTE || !this.#string()) return false;
    this.#skipSpace();
    if (this.#at >= this.#end || this.#source[this.#at] !== COLON) return false;
    this.#at++;
    return true;
  }

  #string(): boolean {
    const source = this.#source;
    for (let at = this.#at + 1; at < this.#end; at++) {
      const byte = source[at]!;
      if (byte === QUOTE) {
        this.#at = at + 1;
        return true;
      }
      if (byte < 0x20) return false;
      if (byte !== BACKSLASH) continue;
      at++;
      if (source[at] === LETTER_U) {
        if (!/^[0-9a-fA-F]{4}$/.test(source.toString('latin1', at + 1, at + 5))) return false;
        at += 4;
      } else if (ESCAPED[source[at]!] !== 1) return false;
    }
    return false;
  }

  #word(): boolean {
    const start = this.#at;
    while (this.#at < this.#end && ENDS[this.#source[this.#at]!] === 0) this.#at++;
    if (this.#at - start > LONGEST_WORD) return false;
    return WORD.test(this.#source.toString('latin1', start, this.#at));
  }

  #skipSpace(): void {
    while (this.#at < this.#end) {
      const byte = this.#source[this.#at];
      if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return;
      this.#at++;
    }
  }
}
