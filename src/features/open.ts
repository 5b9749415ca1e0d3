import { basePathOf } from '../config/public-url.js';
import { createPage } from '../console/page.js';
import { appOf, type Operators } from '../gateway/app.js';
import { Gateway, type Extension, type OpenGateway } from '../gateway/gateway.js';
import { openOperators } from '../operator/operators.js';
import { features } from './index.js';

/** Opens a gateway with all features, and further extensions. Throws ConfigError with all problems. */
export const openGateway: OpenGateway = (config, { extensions = [], ...options }) =>
  Gateway.create(config, { ...options, extensions: [...own, ...extensions] }, appOf(config, operatorsOf));

const own = features.flatMap(({ name, starts, open }): Extension[] =>
  open ? [{ name, open, ...(starts && { starts }) }] : [],
);

function operatorsOf(gateway: Gateway): Operators {
  const { middleware, routes, ...operators } = openOperators(gateway, features);
  const ofFeatures = features.flatMap(({ middleware: make }) => (make ? [make(gateway, routes)] : []));
  const basePath = () => basePathOf(gateway.runtime.config.panel.publicUrl);
  return {
    ...operators,
    middleware: [...middleware, ...ofFeatures, createPage(undefined, basePath)],
  };
}
