// Sets the theme before the first paint. A blocking script, so that nothing flashes.
(() => {
  let theme = null;
  try {
    theme = localStorage.getItem('duetime.theme');
  } catch {
    // storage is not allowed: the system's theme
  }
  const dark = theme ? theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
  document.documentElement.dataset.theme = dark ? 'dark' : 'light';
})();
