/** Runs `check` for each item, some at once. The first failure is thrown under the name of its item. */
export async function each<Item>(
  items: readonly Item[],
  nameOf: (item: Item) => string,
  check: (item: Item) => Promise<void>,
): Promise<void> {
  const waiting = [...items];
  const work = async (): Promise<void> => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) {
      const name = nameOf(item);
      await check(item).catch((cause: unknown) => {
        waiting.length = 0;
        throw new Error(`${name}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
      });
    }
  };
  await Promise.all(Array.from({ length: 8 }, work));
}
