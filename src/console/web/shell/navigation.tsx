import { useId, useState } from 'preact/hooks';
import { pathOfPage, usePluginPages } from '../state/plugin-pages.js';
import { withScope } from '../scope/scope.js';
import { usePlace } from '../state/location.js';
import { Dialog } from '../ui/dialog.js';
import { Icon } from '../ui/icon.js';
import { Link } from '../ui/link.js';
import { destinationGroups, destinations, type Destination, type DestinationGroup } from './destinations.js';

/** Links to all pages in groups; on a phone a bar with the main ones, and the others behind "More". */
export function Navigation({ path }: { readonly path: string }) {
  const groups = useGroups();
  const [isOpen, setOpen] = useState(false);
  const isElsewhere = !destinations.some(({ to, isMain }) => isMain && isAt(path, to));
  return (
    <>
      <nav class="nav" aria-label="Pages">
        {groups.map((group) => (
          <Group key={group.name} group={group} path={path} />
        ))}
      </nav>
      <nav class="tabs" aria-label="Main pages">
        {destinations
          .filter(({ isMain }) => isMain)
          .map((page) => (
            <PageLink key={page.to} page={page} path={path} />
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
  readonly groups: readonly DestinationGroup[];
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

function Group({ group, path }: { readonly group: DestinationGroup; readonly path: string }) {
  const id = useId();
  return (
    <div class="nav-group">
      <p id={id}>{group.name}</p>
      <ul aria-labelledby={id}>
        {group.pages.map((page) => (
          <li key={page.to}>
            <PageLink page={page} path={path} />
          </li>
        ))}
      </ul>
    </div>
  );
}

function PageLink({ page, path }: { readonly page: Destination; readonly path: string }) {
  const { to, text, icon } = page;
  const place = usePlace();
  return (
    <Link to={withScope(to, place)} current={isAt(path, to)}>
      <Icon name={icon} size={20} />
      <span>{text}</span>
    </Link>
  );
}

/** The console's own pages, then those of plugins. */
function useGroups(): readonly DestinationGroup[] {
  const { data: pages = [] } = usePluginPages();
  if (pages.length === 0) return destinationGroups;
  const own = pages.map((page) => ({ to: pathOfPage(page), text: page.title, icon: 'file' as const }));
  return [...destinationGroups, { name: 'Plugins', pages: own }];
}

function isAt(path: string, to: string): boolean {
  return path === to || (to !== '/' && path.startsWith(`${to}/`));
}
