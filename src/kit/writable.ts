/** Object whose fields can be assigned, for those that are built field by field. */
export type Writable<Built> = { -readonly [Field in keyof Built]: Built[Field] };
