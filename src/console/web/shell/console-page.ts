import type { ComponentType } from 'preact';
import { pathOfPage, usePluginPages } from '../state/plugin-pages.js';
import type { IconName } from '../ui/icon.js';

/** Groups of the navigation, in its order. */
export const pageGroups = ['Traffic', 'Upstreams', 'Access', 'Gateway'] as const;

/** An entry of the navigation, the command palette and the shortcuts. */
export interface Destination {
  /** Path below `/panel`. */
  readonly path: string;
  readonly title: string;
  readonly icon: IconName;
  /** Letter that opens it after `g`. */
  readonly key?: string;
  /** Further words that the command palette finds it by. */
  readonly words?: string;
  /** In the bar of a phone; the others are behind "More". At most four. */
  readonly isMain?: true;
}

/** A page that a feature brings to the console. */
export interface ConsolePage extends Destination {
  readonly group: (typeof pageGroups)[number];
  readonly component: ComponentType;
  /** Page of one item, at a path below: `/requests/ID`. */
  readonly item?: ComponentType<{ readonly id: string }>;
}

/** Pages of plugins as entries of the navigation and the command palette. */
export function usePluginDestinations(): readonly Destination[] {
  const { data: pages = [] } = usePluginPages();
  return pages.map((page) => ({ path: pathOfPage(page), title: page.title, icon: 'file' }));
}
