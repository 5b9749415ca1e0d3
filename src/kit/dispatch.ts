interface Typed {
  readonly type: string;
}

/** Dispatch table instead of a switch: one small function for each member of a union with a `type`. */
export type DispatchTable<Union extends Typed, State, Result> = {
  readonly [Type in Union['type']]: (value: Extract<Union, { readonly type: Type }>, state: State) => Result;
};

/**
 * Calls the function of `value.type`; undefined for a type that the table lacks, which is normal on the wire.
 */
export function dispatch<Union extends Typed, State, Result>(
  table: Partial<DispatchTable<Union, State, Result>>,
  value: Union,
  state: State,
): Result | undefined {
  if (!Object.hasOwn(table, value.type)) return undefined;
  // The entry of this type takes exactly this member of the union, which TypeScript cannot correlate.
  const handle = table[value.type as Union['type']] as ((value: Union, state: State) => Result) | undefined;
  return handle?.(value, state);
}
