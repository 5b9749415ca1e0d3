import { useMemo } from 'preact/hooks';
import { usePlace } from './location.js';

/**
 * Items whose text has every word of the query parameter (default `q`), in any order and case; all of them
 * without one.
 */
export function useSearch<Item>(
  items: readonly Item[],
  textOf: (item: Item) => string,
  parameter = 'q',
): readonly Item[] {
  const search = usePlace().query.get(parameter) ?? '';
  const texts = useMemo(() => items.map((item) => textOf(item).toLowerCase()), [items]);
  return useMemo(() => {
    const words = search.toLowerCase().split(/\s+/).filter(Boolean);
    if (words.length === 0) return items;
    return items.filter((_, index) => words.every((word) => texts[index]?.includes(word)));
  }, [items, texts, search]);
}
