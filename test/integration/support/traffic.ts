import type { TcpProxy } from "../../fixture/proxy/proxy.ts";

/** Sees every request that passes, and changes nothing. */
export function spyOn(proxy: TcpProxy): { readonly requests: readonly string[]; end(): void } {
  const requests: string[] = [];
  const end = proxy.rewriteReplies(
    (request) => {
      requests.push(request);
      return false;
    },
    (reply) => reply,
  );
  return { requests, end };
}

/** A plain acquire of this resource; the proxy sees words with spaces between. */
export function acquireOf(resource: string): RegExp {
  return new RegExp(`^set ${resource} `, "i");
}
