import { defineConfig } from 'vite';

/** `npx vite src/console/web` serves the page as it is edited, over a gateway on its usual port. */
export default defineConfig({
  base: '/panel/',
  server: { proxy: { '/api': 'http://127.0.0.1:8787' } },
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: '../../../dist/console/web',
    emptyOutDir: true,
    target: 'es2022',
    // A small image inside a style sheet or a script would need `data:` in the content security policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
});
