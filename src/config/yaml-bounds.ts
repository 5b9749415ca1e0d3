import { Lexer } from 'yaml';

/** Reason why a YAML text is not parsed, with the place where it goes too far. */
export interface YamlExcess {
  readonly offset: number;
  readonly message: string;
}

/** Max nesting depth; real configs have some tens of levels. Each one is a recursion of the parser. */
const maxLevels = 200;
/** Max tokens, of which a slot has some tens. */
const maxTokens = 500_000;

/** Tells whether a YAML text is nested too deeply, or has too many values, before it is parsed. Takes linear time. */
export function yamlExcess(text: string): YamlExcess | undefined {
  return mayExceed(text) ? new Bounds().check(text) : undefined;
}

/** Cheap first check, so that an ordinary text is not read twice. */
function mayExceed(text: string): boolean {
  if (text.length > maxTokens) return true;
  let brackets = 0;
  for (const bracket of text.matchAll(/[[{]|[-?][ \t]+(?=[-?])|^[ \t]{200,}/gm)) {
    brackets += 1;
    if (brackets >= maxLevels || bracket[0].length >= maxLevels) return true;
  }
  return false;
}

/** Counts tokens and levels: those of brackets, and the column at which a line's content begins. */
class Bounds {
  #offset = 0;
  #tokens = 0;
  #brackets = 0;
  #column = 0;
  #isInIndent = true;

  check(text: string): YamlExcess | undefined {
    for (const token of new Lexer().lex(text)) {
      if (marks.has(token)) continue;
      this.#tokens += 1;
      this.#count(token);
      if (this.#brackets > maxLevels || (this.#isInIndent && this.#column > 2 * maxLevels))
        return { offset: this.#offset, message: `is nested more than ${maxLevels} levels deep here` };
      if (this.#tokens > maxTokens)
        return { offset: this.#offset, message: 'has too many values up to here; split it, or remove some' };
      this.#offset += token.length;
    }
    return undefined;
  }

  #count(token: string): void {
    if (token === '[' || token === '{') this.#brackets += 1;
    else if (token === ']' || token === '}') this.#brackets = Math.max(0, this.#brackets - 1);
    if (/^\r?\n$/.test(token)) {
      this.#column = 0;
      this.#isInIndent = true;
    } else if (this.#isInIndent) {
      this.#isInIndent = /^(?:[ \t]+|[-?])$/.test(token);
      if (this.#isInIndent) this.#column += token.length;
    }
  }
}

/** Tokens that stand for no characters: starts of a document and of a scalar, the end of broken brackets. */
const marks: ReadonlySet<string> = new Set(['\u0002', '\u0018', '\u001f']);
