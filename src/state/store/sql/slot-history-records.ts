/** Row of a slot's change of state. */
export interface SlotChangeRecord {
  readonly slot: string;
  readonly at: number;
  readonly state: string;
  readonly reason: string | null;
  readonly until: number | null;
  /** JSON. */
  readonly models: string;
  readonly status: number | null;
  readonly code: string | null;
}

/** Row of a sample of a usage window. */
export interface WindowSampleRecord {
  readonly slot: string;
  readonly kind: string;
  readonly at: number;
  readonly percent: number;
  readonly resets_at: number;
}
