import type { IconName } from '../ui/icon.js';

/** A page in the navigation, in the command palette and among the shortcuts. */
export interface Destination {
  readonly to: string;
  readonly text: string;
  readonly icon: IconName;
  /** Letter that opens it after `g`. */
  readonly key?: string;
  /** Further words that the command palette finds it by. */
  readonly words?: string;
  /** In the bar of a phone; the others are behind "More". At most four. */
  readonly isMain?: true;
}

export interface DestinationGroup {
  readonly name: string;
  readonly pages: readonly Destination[];
}

/** All pages of the navigation; a new page is an entry here and one in `app.tsx`. */
export const destinationGroups: readonly DestinationGroup[] = [
  {
    name: 'Traffic',
    pages: [
      {
        to: '/',
        text: 'Overview',
        icon: 'overview',
        key: 'o',
        words: 'usage charts cost tokens',
        isMain: true,
      },
      {
        to: '/requests',
        text: 'Requests',
        icon: 'requests',
        key: 'r',
        words: 'ledger log errors',
        isMain: true,
      },
      {
        to: '/cache',
        text: 'Cache',
        icon: 'cache',
        key: 'h',
        words: 'prompt cache hit ratio lost tokens causes',
      },
    ],
  },
  {
    name: 'Upstreams',
    pages: [
      { to: '/slots', text: 'Slots', icon: 'slots', key: 's', words: 'accounts windows', isMain: true },
    ],
  },
  {
    name: 'Access',
    pages: [
      { to: '/keys', text: 'Keys', icon: 'keys', key: 'k', words: 'limits issue revoke', isMain: true },
      { to: '/sessions', text: 'Sessions', icon: 'person', words: 'people signed in login end role' },
      { to: '/teams', text: 'Teams', icon: 'team', key: 't', words: 'budgets limits usd' },
      {
        to: '/tokens',
        text: 'Admin tokens',
        icon: 'lock',
        words: 'scopes scripts issue revoke',
      },
      { to: '/audit', text: 'Audit log', icon: 'file', key: 'a', words: 'who when changes history' },
    ],
  },
  {
    name: 'Gateway',
    pages: [
      { to: '/pipeline', text: 'Pipeline', icon: 'pipeline', key: 'p', words: 'stages config reload' },
      { to: '/explain', text: 'Explain', icon: 'search', key: 'e', words: 'dry run test' },
      { to: '/playground', text: 'Playground', icon: 'play', words: 'run try request stream curl' },
      { to: '/connect', text: 'Connect', icon: 'connect', key: 'c', words: 'snippets curl sdk base url' },
    ],
  },
];

export const destinations: readonly Destination[] = destinationGroups.flatMap(({ pages }) => pages);
