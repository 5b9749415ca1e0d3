/** Redis server shared by the instances of a gateway. */
export interface RedisAddress {
  /** Host and port, safe to log. */
  readonly label: string;
  readonly prefix: string;
  /** Connection options for ioredis. */
  readonly access: {
    readonly host: string;
    readonly port: number;
    readonly db: number;
    readonly username?: string;
    readonly password?: string;
    readonly tls?: { readonly servername: string };
  };
}
