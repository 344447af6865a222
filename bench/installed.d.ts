/** Installed only for the bench (package.json): without them, the compiler takes them as they come. */
declare module "redlock-4";
declare module "redlock-5";
declare module "@sesamecare-oss/redlock";
declare module "redis-semaphore";
declare module "redlock-universal";
declare module "vega";
declare module "vega-lite";
