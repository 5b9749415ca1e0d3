import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

/**
 * Config of `npx vite src/console/web`, which serves the page while it is edited, with a gateway on its usual
 * port.
 */
export default defineConfig({
  base: '/panel/',
  // The entry lists the pages of the features, which know the console and not the other way round.
  resolve: {
    alias: { '/pages.tsx': fileURLToPath(new URL('../../features/pages.tsx', import.meta.url)) },
  },
  // Only the page itself names a path from the root, which the gateway replaces below a path of a host.
  experimental: {
    renderBuiltUrl: (_, { hostType }) => (hostType === 'html' ? undefined : { relative: true }),
  },
  server: { proxy: { '/api': 'http://127.0.0.1:8787' } },
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: '../../../dist/console/web',
    emptyOutDir: true,
    target: 'es2022',
    // No inlined images: they would need `data:` in the content security policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
});
