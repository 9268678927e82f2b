"""Loadstone measured against its peers and limits: ratios within one run, never absolute claims."""
