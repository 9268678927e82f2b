import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vite";
import { viteSingleFile } from "vite-plugin-singlefile";

// The page is shipped inside the Python package; the document takes the placeholder's place there.
export default defineConfig({
  plugins: [svelte(), viteSingleFile({ removeViteModuleLoader: true })],
  build: {
    outDir: "../src/loadstone/report/bundle",
    emptyOutDir: false,
    target: "es2022",
    rollupOptions: { input: "report.html" },
  },
});
