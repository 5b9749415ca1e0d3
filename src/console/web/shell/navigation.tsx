import { useId, useState } from 'preact/hooks';
import { withScope } from '../scope/scope.js';
import { usePlace } from '../state/location.js';
import { Dialog } from '../ui/dialog/dialog.js';
import { Icon } from '../ui/icon.js';
import { Link } from '../ui/link.js';
import { pageGroups, usePluginDestinations, type ConsolePage, type Destination } from './console-page.js';

interface NavigationProps {
  readonly path: string;
  readonly pages: readonly ConsolePage[];
}

/** Links to all pages in groups; on a phone a bar with the main ones, and the others behind "More". */
export function Navigation({ path, pages }: NavigationProps) {
  const groups = useGroups(pages);
  const [isOpen, setOpen] = useState(false);
  const isElsewhere = !pages.some((page) => page.isMain && isAt(path, page.path));
  return (
    <>
      <nav class="nav" aria-label="Pages">
        {groups.map((group) => (
          <Group key={group.name} group={group} path={path} />
        ))}
      </nav>
      <nav class="tabs" aria-label="Main pages">
        {pages
          .filter(({ isMain }) => isMain)
          .map((page) => (
            <PageLink key={page.path} page={page} path={path} />
          ))}
        <button
          type="button"
          class={isElsewhere ? 'tab-on' : ''}
          aria-haspopup="dialog"
          onClick={() => setOpen(true)}
        >
          <Icon name="more" size={20} />
          <span>More</span>
        </button>
      </nav>
      {isOpen && <MorePages groups={groups} path={path} onClose={() => setOpen(false)} />}
    </>
  );
}

interface MorePagesProps {
  readonly groups: readonly PageGroup[];
  readonly path: string;
  readonly onClose: () => void;
}

function MorePages({ groups, path, onClose }: MorePagesProps) {
  return (
    <Dialog title="Pages" onClose={onClose}>
      {/* A click on a link bubbles here once it has navigated. */}
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions, jsx-a11y/click-events-have-key-events */}
      <nav class="dialog-body more-pages" aria-label="All pages" onClick={onClose}>
        {groups.map((group) => (
          <Group key={group.name} group={group} path={path} />
        ))}
      </nav>
    </Dialog>
  );
}

function Group({ group, path }: { readonly group: PageGroup; readonly path: string }) {
  const id = useId();
  return (
    <div class="nav-group">
      <p id={id}>{group.name}</p>
      <ul aria-labelledby={id}>
        {group.pages.map((page) => (
          <li key={page.path}>
            <PageLink page={page} path={path} />
          </li>
        ))}
      </ul>
    </div>
  );
}

function PageLink({ page, path }: { readonly page: Destination; readonly path: string }) {
  const { path: to, title, icon } = page;
  const place = usePlace();
  return (
    <Link to={withScope(to, place)} current={isAt(path, to)}>
      <Icon name={icon} size={20} />
      <span>{title}</span>
    </Link>
  );
}

interface PageGroup {
  readonly name: string;
  readonly pages: readonly Destination[];
}

/** The console's own pages, then those of plugins. */
function useGroups(pages: readonly ConsolePage[]): readonly PageGroup[] {
  const plugins = usePluginDestinations();
  const own = pageGroups.map((name) => ({ name, pages: pages.filter(({ group }) => group === name) }));
  return [...own, { name: 'Plugins', pages: plugins }].filter((group) => group.pages.length > 0);
}

function isAt(path: string, to: string): boolean {
  return path === to || (to !== '/' && path.startsWith(`${to}/`));
}
