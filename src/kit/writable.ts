/** Object whose fields can be assigned, for objects built field by field. */
export type Writable<Built> = { -readonly [Field in keyof Built]: Built[Field] };
