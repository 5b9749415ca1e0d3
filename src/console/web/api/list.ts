/** A list of the panel API, without what only lists of pages have. */
export interface List<Item> {
  readonly data: readonly Item[];
}
