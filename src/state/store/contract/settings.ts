/** Store settings, as in the config. */
export type StoreSettings =
  | { readonly kind: 'memory' }
  | { readonly kind: 'sqlite'; readonly file: string }
  | {
      readonly kind: 'postgres';
      readonly url: string;
      /** Max connections of a process; absent: 10. */
      readonly pool?: number;
    };
