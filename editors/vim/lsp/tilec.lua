-- Neovim 0.11 and later: vim.lsp.enable('tilec') starts the server with the first file.
return {
  cmd = { 'tilec', 'lsp' },
  filetypes = { 'tile' },
  root_markers = { '.git' },
}
