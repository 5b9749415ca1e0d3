/** A list of the panel API, without the fields of paged lists. */
export interface List<Item> {
  readonly data: readonly Item[];
}
