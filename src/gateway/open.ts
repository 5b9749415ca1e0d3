import type { Config } from '../config/config.js';
import { createApp } from './app.js';
import { Gateway } from './gateway.js';
import type { GatewayOptions } from './options.js';

/** Opens a gateway that is served by its Koa app. Throws ConfigError with all problems. */
export function openGateway(config: Config, options: GatewayOptions): Promise<Gateway> {
  return Gateway.create(config, options, (gateway) => createApp(gateway).callback());
}
