import type { Extension } from '../../gateway/gateway.js';
import type { RequestFeed } from './request-feed.js';

/** Live feed of finished requests, and the error texts of those that have failed. */
export const liveRequests: Extension<RequestFeed> = {
  name: 'requests',
  starts: (_, { dry, isCheck = false }) => !dry && !isCheck,
  async open(gateway) {
    const { SharedFeed } = await import('./request-feed.js');
    const feed = new SharedFeed(gateway.services.live);
    const { isOn } = gateway.services.errorTexts;
    const keeper = isOn ? (await import('./kept-error-texts.js')).errorTextKeeper(gateway) : undefined;
    return {
      api: feed,
      watch: {
        complete: keeper && (({ exchange, row }) => keeper(exchange, row)),
        completeCall: keeper && (({ call, row }) => keeper({ ctx: call.origin, state: call.state }, row)),
        settled: ({ row }) => row && feed.publish(row),
        callSettled: ({ row }) => feed.publish(row),
      },
    };
  },
};
