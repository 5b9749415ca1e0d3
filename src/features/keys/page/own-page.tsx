import { basePath } from '../../../console/web/state/base-path.js';
import { usePluginPages } from '../../../console/web/state/plugin-pages.js';
import { Empty } from '../../../console/web/ui/empty.js';
import { Link } from '../../../console/web/ui/link.js';
import { Loaded, Skeleton } from '../../../console/web/ui/loaded.js';
import { Page } from '../../../console/web/ui/page.js';

/** A plugin's own page, in a frame whose scripts cannot reach the console. */
export function OwnPage({ url }: { readonly url: string }) {
  const pages = usePluginPages();
  const title = pages.data?.find((page) => page.url === url);
  return (
    <Loaded resource={pages} skeleton={<Skeleton rows={8} height={40} />}>
      {() => (title ? <Framed title={title.title} stage={title.stage} url={url} /> : <NoPage />)}
    </Loaded>
  );
}

interface FramedProps {
  readonly title: string;
  readonly stage: string;
  readonly url: string;
}

function Framed({ title, stage, url }: FramedProps) {
  return (
    <Page title={title} lead={`A page of the stage ${stage}.`}>
      <iframe
        class="card plugin-frame"
        title={title}
        src={basePath + url}
        sandbox="allow-scripts allow-forms"
      />
    </Page>
  );
}

function NoPage() {
  return (
    <Empty icon="search" title="There is no such page">
      <Link to="/pipeline">No stage of the pipeline brings it</Link>
    </Empty>
  );
}
