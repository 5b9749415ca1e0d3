/**
 * Copy of an object with some fields changed or added, as `{ ...object, ...others }`. In Node 20 the spread
 * gives each copy a new hidden class if a field is added, which slows all code that reads it.
 */
export function withFields<Fields extends object>(object: Fields, others: Partial<Fields>): Fields {
  // JSON may hold this key, and assigning it would set the prototype.
  const isSpecial = Object.hasOwn(object, '__proto__') || Object.hasOwn(others, '__proto__');
  return isSpecial ? { ...object, ...others } : Object.assign({}, object, others);
}

/** Sets fields of an object in place, without a copy; only for an object that nobody else uses. */
export function addFields<Fields extends object>(object: Fields, others: Partial<Fields>): void {
  if (Object.hasOwn(others, '__proto__'))
    Object.defineProperties(object, Object.getOwnPropertyDescriptors(others));
  else Object.assign(object, others);
}
