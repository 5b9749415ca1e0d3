import { basePath } from './state/base-path.js';
import { usePluginPages } from './state/plugin-pages.js';
import { Empty } from './ui/empty.js';
import { Link } from './ui/link.js';
import { Loaded, Skeleton } from './ui/loaded.js';
import { Page } from './ui/page.js';

/** A plugin's own page, in a frame whose scripts cannot reach the console. */
export function PluginPage({ url }: { readonly url: string }) {
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
