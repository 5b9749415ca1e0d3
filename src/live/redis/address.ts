/** Where the instances of a gateway meet. */
export interface RedisAddress {
  /** Host and port: fit to be logged. */
  readonly label: string;
  readonly prefix: string;
  /** How ioredis is to connect. */
  readonly access: {
    readonly host: string;
    readonly port: number;
    readonly db: number;
    readonly username?: string;
    readonly password?: string;
    readonly tls?: { readonly servername: string };
  };
}
