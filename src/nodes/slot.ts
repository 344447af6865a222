/**
 * The hash slot of a key in a Redis Cluster: CRC16 (XMODEM) of the key, or of what stands between its first `{` and the next `}`
 * when that is not empty, modulo 16384.
 *
 * @see https://redis.io/docs/latest/operate/oss_and_stack/reference/cluster-spec/
 */
export function slotOf(key: string): number {
  const open = key.indexOf("{");
  const close = open === -1 ? -1 : key.indexOf("}", open + 1);
  const hashed = close > open + 1 ? key.slice(open + 1, close) : key;
  let crc = 0;
  for (const byte of Buffer.from(hashed)) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit += 1) crc = crc & 0x8000 ? (crc << 1) ^ POLYNOMIAL : crc << 1;
    crc &= 0xffff;
  }
  return crc % SLOTS;
}

const POLYNOMIAL = 0x1021;
const SLOTS = 16_384;
