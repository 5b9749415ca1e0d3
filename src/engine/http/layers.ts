/** One route of a router. */
interface Layer {
  readonly path: string | RegExp;
  readonly methods: readonly string[];
}

/** Part of a router that finds its routes. */
export interface Matcher {
  match(path: string, method: string): { readonly path: readonly Layer[] };
}

/** The routes at a path, of any method; those with a literal name hide those with an id. */
export function layersAt(routers: readonly Matcher[], path: string): readonly Layer[] {
  const layers = routers.flatMap((router) => router.match(path, 'GET').path);
  const named = layers.filter((layer) => !/[:*]/.test(String(layer.path)));
  return named.length > 0 ? named : layers;
}
