import { stdout } from "node:process";
import pc from "picocolors";

/** No colours where nobody sees them. The library alone would colour CI's log. */
export const colours = pc.createColors(stdout.isTTY === true && pc.isColorSupported);
