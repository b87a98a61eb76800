import { defineConfig } from 'vite'

export default defineConfig({
  root: import.meta.dirname,
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: '../dist/web',
    emptyOutDir: true,
    target: 'es2023',
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0, // the content security policy takes no script that stands in the page
    reportCompressedSize: false,
    license: false,
  },
  logLevel: 'warn',
})
