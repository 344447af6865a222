/** The servers that the library is tested against. */
export const IMAGES = ["redis:7", "redis:8", "valkey/valkey:8", "valkey/valkey:9"] as const;

/** The image that stands in where this machine has no server program. */
export const DEFAULT_IMAGE = "redis:7";

/** testcontainers is slow to load, and many processes never need it. */
async function runtime() {
  const { getContainerRuntimeClient, ImageName } = await import("testcontainers");
  return { client: await getContainerRuntimeClient(), ImageName };
}

/** The container engine that answers, as `Docker 20.10.24`; undefined when none does. */
export async function containerEngine(): Promise<string | undefined> {
  try {
    const { client } = await runtime();
    return `Docker ${client.info.containerRuntime.serverVersion}`;
  } catch {
    return undefined;
  }
}

/** Makes sure that the engine has the image. Undefined: it has it now; else why it cannot be had. */
export async function ensureImage(
  image: string,
  say: (line: string) => void = console.log,
): Promise<string | undefined> {
  const { client, ImageName } = await runtime();
  const name = ImageName.fromString(image);
  if (await client.image.exists(name)) return undefined;
  say(`Pulling the container image ${image} …`);
  try {
    await client.image.pull(name);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
