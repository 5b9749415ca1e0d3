import type { Config } from '../config/config.js';
import { createApp } from './app.js';
import { Gateway } from './gateway.js';
import type { GatewayOptions } from './options.js';

/** Opens a gateway that its Koa app will serve. Throws ConfigError with all that is wrong. */
export function openGateway(config: Config, options: GatewayOptions): Promise<Gateway> {
  return Gateway.create(config, options, (gateway) => createApp(gateway).callback());
}
