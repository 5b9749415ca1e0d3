/**
 * Models as labels of metrics. Callers write the names: those of the catalog are labels, others once an upstream
 * has answered for them, up to a max number; the rest is `other`.
 */
export class ModelLabels {
  readonly #modelId: (name: string) => string | undefined;
  readonly #answered = new Set<string>();

  /** `modelId`: catalog id of a name; undefined for names that the catalog does not have. */
  constructor(modelId: (name: string) => string | undefined) {
    this.#modelId = modelId;
  }

  of(name: string, hasAnswered: boolean): string {
    const id = this.#modelId(name);
    if (id !== undefined || name === '') return id ?? '';
    if (this.#answered.has(name)) return name;
    if (!hasAnswered || this.#answered.size >= maxAnswered || !isPlain(name)) return 'other';
    this.#answered.add(name);
    return name;
  }
}

const maxAnswered = 100;

function isPlain(name: string): boolean {
  return /^[\w.:/@-]{1,100}$/.test(name);
}
